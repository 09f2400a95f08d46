// All that a page can ask for.
import { Matrix, eigenSymmetric, fixSigns, qr, svd } from "./core/linear.js";
import {
  averageOverClusters,
  bestPartition,
  center,
  indicator,
  kmeans,
  relabel,
} from "./core/clusters.js";
import {
  averagedDirections,
  exactDirections,
  factorOf,
  pcaDirections,
  penalizedDirections,
  reconstructionError,
} from "./core/directions.js";
import {
  informedDistances,
  localDistances,
  mahalanobisDistances,
  neighborsOf,
  squaredDistances,
} from "./core/distances.js";
import { bipartition, diffusionMap } from "./core/diffusion.js";
import { chiSquaredTail, erfc, kaplanMeier, logRank } from "./core/survival.js";
import { leadingEigenvalue, squaredCosine } from "./core/spiked.js";

import { answerInWorker, openPlayground } from "./playground/page.js";
import { readTable, selectNumbers, suggestRoles } from "./playground/table.js";
import { openAnswers } from "./learning/answers.js";
import { evaluate } from "./learning/expression.js";
import { addPreviews, openPreviews } from "./learning/previews.js";
import { openProgress } from "./learning/progress.js";
import { findFault, openProof } from "./learning/proofs.js";
import { openQuiz } from "./learning/quizzes.js";
import { judge, seal } from "./learning/sealed.js";
import { unfoldWhenMoved } from "./learning/unfold.js";
import { mount } from "./stage/stage.js";
import { whenRead } from "./stage/ready.js";
import { features } from "./explorers/features.js";
import { patients } from "./explorers/patients.js";
import { phase } from "./explorers/phase.js";
import { sheet } from "./explorers/sheet.js";
import { staircases } from "./explorers/staircases.js";
import { transformation } from "./explorers/transformation.js";
import { turning } from "./explorers/turning.js";
import { usual } from "./explorers/usual.js";

export const explorers = {
  features,
  patients,
  phase,
  sheet,
  staircases,
  transformation,
  turning,
  usual,
};

let packText = "";

/** Bring to life all on the page that is not alive yet, each in a task of its own: a page that is
 * just being read must not stand still for all of them together. */
export function start() {
  const tasks = [];
  const each = (selector, open) =>
    document.querySelectorAll(selector).forEach((root) => tasks.push(() => open(root)));
  each(".informed-computed[data-explorer]", (root) =>
    mount(root, explorers[root.dataset.explorer]),
  );
  each(".informed-playground", (root) => openPlayground(root, packText));
  each("form.informed-answer", openAnswers);
  each(".informed-quiz", openQuiz);
  each(".informed-proof", openProof);
  each(".informed-progress", openProgress);
  each("details.informed-seen", unfoldWhenMoved);
  tasks.push(openPreviews);
  const next = () => {
    const task = tasks.shift();
    if (tasks.length) setTimeout(next); // before the task, whose failure must not stop the others
    task();
  };
  setTimeout(next);
}

/** Start when the page has been read; `text` is this whole script, for workers. */
export function begin(text) {
  packText = text;
  whenRead(start);
}

/** Called by the script of previews that the build writes for a page. */
export const addPreviewsOfPage = addPreviews;
export const learning = { evaluate, findFault, judge, seal };
export const worker = { answer: answerInWorker };
export const tables = { readTable, selectNumbers, suggestRoles };

export const core = {
  Matrix,
  eigenSymmetric,
  fixSigns,
  qr,
  svd,
  averageOverClusters,
  bestPartition,
  center,
  indicator,
  kmeans,
  relabel,
  averagedDirections,
  exactDirections,
  factorOf,
  pcaDirections,
  penalizedDirections,
  reconstructionError,
  informedDistances,
  localDistances,
  mahalanobisDistances,
  neighborsOf,
  squaredDistances,
  bipartition,
  diffusionMap,
  chiSquaredTail,
  erfc,
  kaplanMeier,
  logRank,
  leadingEigenvalue,
  squaredCosine,
};

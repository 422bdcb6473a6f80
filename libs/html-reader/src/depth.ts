import { Parser } from 'htmlparser2';

/** Elements inside one another; pages that people wrote have some dozens. */
export const maxDepth = 400;

const voids = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;

/** Whether elements are nested deeper than the builder of trees should ever see. In proportion to the length of the text. */
export const isTooDeep = (html: string): boolean => {
  let [depth, deepest] = [0, 0];
  const parser = new Parser({
    onopentagname(name) {
      if (voids.test(name)) return;
      depth += 1;
      deepest = Math.max(deepest, depth);
      if (depth > maxDepth) parser.pause();
    },
    onclosetag(name) {
      if (!voids.test(name)) depth -= 1;
    },
  });
  parser.write(html);
  return deepest > maxDepth;
};

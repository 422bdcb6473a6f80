import { limits } from '@bindery/contracts';

/** A slug that nobody has: the wanted one, else with `-1`, `-2` ... at its end, within the limit of slugs. */
export const uniqueSlug = (wanted: string, taken: (slug: string) => boolean): string => {
  if (!taken(wanted)) return wanted;
  for (let number = 1; ; number += 1) {
    const ending = `-${number}`;
    const candidate = wanted.slice(0, limits.page_.slug - ending.length) + ending;
    if (!taken(candidate)) return candidate;
  }
};

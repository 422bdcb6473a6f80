import { parseArgs } from 'node:util';
import { type Figure, machine, table } from './report.ts';
import { distributed } from './scenarios/distributed.ts';
import { importing } from './scenarios/import.ts';
import { principal } from './scenarios/principal.ts';
import { recovery } from './scenarios/recovery.ts';
import { requests } from './scenarios/requests.ts';
import { scale } from './scenarios/scale.ts';
import { searching } from './scenarios/search.ts';

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    distributed: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});

const scenarios: Readonly<Record<string, (seconds: number) => Promise<Figure[]>>> = {
  requests,
  import: importing,
  scale,
  search: searching,
  principal,
  recovery,
};

if (values.help) {
  console.log(`npm run bench -- [${Object.keys(scenarios).join('|')} ...] [--quick] [--check]

Measures the product in processes of its own, against a bare Express 5 process where a ratio is asked for.
  --distributed  the distributed profile, beside the embedded one; starts servers and processes
  --quick  1 second a round instead of 4
  --check  exit 1 when a target is missed`);
} else {
  const chosen = positionals.length > 0 ? positionals : values.distributed ? [] : Object.keys(scenarios);
  const figures: Figure[] = [];
  console.log(`\n${machine()}\n`);
  for (const name of chosen) {
    const scenario = scenarios[name];
    if (scenario === undefined) throw new Error(`no scenario ${name}; there are ${Object.keys(scenarios).join(', ')}`);
    console.error(`... ${name}`);
    figures.push(...(await scenario(values.quick ? 1 : 4)));
  }
  if (values.distributed) {
    console.error('... distributed');
    figures.push(...(await distributed(values.quick ? 1 : 4)));
  }
  console.log(table(figures));
  if (values.check && figures.some((figure) => !figure.met)) process.exitCode = 1;
}

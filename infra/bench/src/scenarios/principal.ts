import { startProduct } from '@bindery/testing/product';
import { call, quantile, timed } from '../api.ts';
import { compare } from '../load.ts';
import { atMost, type Figure, noted } from '../report.ts';

interface Target {
  readonly url: string;
  readonly token: string;
}

const organizations = 50;
const teamsInEach = 4;
const coldRounds = 30;

/** A new user who created some organizations, and is in some teams of each. */
const userWith = async (admin: Target, name: string, count: number, teams: number) => {
  const email = `${name}@example.org`;
  const user = await call<{ id: string }>(admin, 'POST', '/admin/v1/users', { email, displayName: name });
  const { token } = await call<{ token: string }>(admin, 'POST', `/admin/v1/users/${user.id}/tokens`, {});
  const target: Target = { url: admin.url, token };
  let last = { organization: '', team: '' };
  for (let n = 0; n < count; n += 1) {
    const organization = await call<{ id: string }>(target, 'POST', '/v1/orgs', { title: `Organization ${n}` });
    for (let m = 0; m < teams; m += 1) {
      const body = { title: `Team ${m}`, members: [user.id] };
      const team = await call<{ id: string }>(target, 'PUT', `/v1/orgs/${organization.id}/teams`, body);
      last = { organization: organization.id, team: team.id };
    }
  }
  return { ...target, id: user.id, ...last };
};

/**
 * What many memberships cost every request: a user with 50 organizations and 200 teams against one with a single one, on
 * the same operation and answer. And what a request costs that reads them anew, because they have just changed.
 */
export const principal = async (seconds: number): Promise<Figure[]> => {
  const product = await startProduct();
  try {
    const one = await userWith(product, 'one', 1, 1);
    const many = await userWith(product, 'many', organizations, teamsInEach);
    const url = `${product.url}/v1/user`;
    const measured = await compare({ url, token: one.token }, { url, token: many.token }, 20, seconds);
    const cold = async (user: typeof one): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < coldRounds; round += 1) {
        const member = `/v1/orgs/${user.organization}/teams/${user.team}/members/${user.id}`;
        await call(user, 'PUT', member, { role: round % 2 === 0 ? 'owner' : 'member' });
        times.push(await timed(() => call(user, 'GET', '/v1/user')));
      }
      return quantile(times, 0.5);
    };
    return [
      atMost('request of a member of 50 organizations and 200 teams, as multiple of one', 1 / measured.throughput, 1.3),
      noted('its p99 as multiple', measured.p99),
      noted('its requests', measured.requestsPerSecond, '/s'),
      noted('first request after a change of teams, member of one', await cold(one), ' ms'),
      noted('first request after a change of teams, member of 50 and 200', await cold(many), ' ms'),
    ];
  } finally {
    await product.stop();
  }
};

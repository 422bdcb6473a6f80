import { startProduct } from '@bindery/testing/product';
import { call, organizationOf } from '../api.ts';
import { startBaseline } from '../baseline-process.ts';
import { compare } from '../load.ts';
import { atLeast, atMost, type Figure, noted } from '../report.ts';

/** GET space, 50 spaces listed and POST change request, each against a bare Express handler with the same bytes. */
export const requests = async (seconds: number): Promise<Figure[]> => {
  const product = await startProduct();
  const figures: Figure[] = [];
  try {
    const organization = await organizationOf(product);
    const ids: string[] = [];
    for (let n = 0; n < 60; n += 1)
      ids.push(
        (await call<{ id: string }>(product, 'POST', `/v1/orgs/${organization}/spaces`, { title: `Space ${n}` })).id,
      );

    const against = async (path: string, connections: number, method: 'GET' | 'POST' = 'GET', body?: string) => {
      const response = await fetch(`${product.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${product.token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body } : {}),
      });
      const baseline = await startBaseline(await response.text(), response.status);
      try {
        return await compare(
          { url: `${baseline.url}/answer`, method, ...(body ? { body } : {}) },
          { url: `${product.url}${path}`, token: product.token, method, ...(body ? { body } : {}) },
          connections,
          seconds,
        );
      } finally {
        await baseline.stop();
      }
    };

    const space = await against(`/v1/spaces/${ids[0]}`, 20);
    figures.push(
      atLeast('GET space, share of bare Express', space.throughput, 0.5),
      atMost('GET space, p99 as multiple', space.p99, 3),
      noted('GET space', space.requestsPerSecond, '/s'),
    );
    const list = await against(`/v1/orgs/${organization}/spaces?limit=50`, 20);
    figures.push(
      atLeast('50 spaces listed, share of bare Express', list.throughput, 0.3),
      noted('50 spaces listed', list.requestsPerSecond, '/s'),
    );
    const create = await against(
      `/v1/spaces/${ids[0]}/change-requests`,
      20,
      'POST',
      JSON.stringify({ subject: 'Benchmark' }),
    );
    figures.push(
      atLeast('POST change request (fsync), share of bare Express', create.throughput, 0.2),
      noted('POST change request', create.requestsPerSecond, '/s'),
    );
    return figures;
  } finally {
    await product.stop();
  }
};

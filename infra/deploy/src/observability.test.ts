import { describe, expect, test } from '@jest/globals';
import { dashboardQueries, documentedMetrics, queriesOf, unknownIn } from './dashboards.ts';
import { untried } from './observability.ts';

describe('what Prometheus is asked', () => {
  const known = new Map([
    ['bindery_requests_total', ['operation', 'status']],
    ['bindery_ready', ['process']],
    ['bindery_consumer_duration_seconds', ['group']],
  ]);

  test('metrics, labels and legends that the product does not have are found', () => {
    const sound = { metrics: { bindery_requests_total: ['status'] }, labels: ['status'] };
    expect(unknownIn(sound, known, '{{status}}')).toEqual([]);
    expect(unknownIn(sound, known, '{{ operation }}')).toEqual(['no operation for the legend']);
    expect(unknownIn({ metrics: { bindery_requests_total: ['code'] }, labels: [] }, known)).toEqual([
      'bindery_requests_total has no label code',
    ]);
    expect(unknownIn({ metrics: { bindery_request_total: [] }, labels: null }, known)).toEqual([
      'there is no bindery_request_total',
    ]);
    expect(unknownIn({ metrics: { node_load1: [] }, labels: null }, known)).toEqual(['there is no node_load1']);
  });

  test('series have the labels of the scrape, histograms their parts', () => {
    const buckets = { metrics: { bindery_consumer_duration_seconds_bucket: ['le', 'group'] }, labels: ['group'] };
    expect(unknownIn(buckets, known, '{{group}}')).toEqual([]);
    expect(unknownIn({ metrics: { bindery_ready: [] }, labels: null }, known, '{{process}} {{instance}}')).toEqual([]);
    expect(unknownIn({ metrics: { bindery_ready: [] }, labels: null }, known, '{{status}}')).toEqual([
      'no status for the legend',
    ]);
  });

  test('the variables of Grafana are filled in, and their own queries are asked too', () => {
    const queries = queriesOf({
      uid: 'board',
      panels: [
        { title: 'Rate', targets: [{ expr: 'rate(bindery_requests_total{status="$status"}[$__rate_interval])' }] },
        { title: 'Text' },
      ],
      templating: {
        list: [
          { name: 'status', query: { query: 'label_values(bindery_requests_total{operation=~".+"}, status)' } },
          { name: 'environment', query: 'production,development' },
        ],
      },
    });
    expect(queries.map(({ name, expression }) => [name, expression])).toEqual([
      ['board: Rate (1)', 'rate(bindery_requests_total{status="value"}[5m])'],
      ['board: $status', 'bindery_requests_total{operation=~".+"}'],
    ]);
  });

  test('there are dashboards, and a table of metrics with labels', () => {
    const queries = dashboardQueries();
    expect(queries.length).toBeGreaterThan(40);
    expect(new Set(queries.map(({ name }) => name)).size).toBe(queries.length);
    expect(documentedMetrics().get('bindery_backend_errors_total')).toEqual(['port', 'system', 'operation', 'code']);
    expect(documentedMetrics().get('bindery_data_free_bytes')).toEqual([]);
  });
});

test('an alert is tried when it was seen to ring and to be quiet', () => {
  const tried = { Down: { firing: 1, quiet: 1 }, Slow: { firing: 0, quiet: 2 }, Old: { firing: 1, quiet: 1 } };
  expect(untried(['Down', 'Slow', 'Full'], tried)).toEqual([
    'Slow rings in no test',
    'Full rings in no test',
    'Full is quiet in no test',
    'Old is tested but not there',
  ]);
});

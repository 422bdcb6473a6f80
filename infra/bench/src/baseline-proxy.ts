import express from 'express';
import { Agent, request } from 'undici';

/** The other half of what the distributed profile is compared with: a bare Express process that passes every call on. */
const agent = new Agent({ connections: 64 });
const upstream = process.env.UPSTREAM ?? '';
const app = express();
app.get('/ready', (_request, response) => {
  response.json({ ready: true });
});
app.get('/answer', async (_request, response) => {
  const answer = await request(`${upstream}/answer`, { dispatcher: agent });
  const body: unknown = await answer.body.json();
  response.status(answer.statusCode).json(body);
});
app.listen(Number(process.env.PORT), '127.0.0.1');

import express from 'express';

/** What the ratios compare with: Express 5 as its guide shows it, answering one object as JSON. */
const body: unknown = JSON.parse(Buffer.from(process.env.BODY ?? '', 'base64').toString());
const app = express();
app.get('/ready', (_request, response) => {
  response.json({ ready: true });
});
app.get('/answer', (_request, response) => {
  response.json(body);
});
app.post('/answer', express.json(), (_request, response) => {
  response.status(Number(process.env.STATUS)).json(body);
});
app.listen(Number(process.env.PORT), '127.0.0.1');

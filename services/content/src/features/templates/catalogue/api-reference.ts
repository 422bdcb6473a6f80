import type { Template } from '../model.ts';

/** Reference of an HTTP API, with the pages that surround it. */
export const apiReference: Template = {
  id: 'api-reference',
  title: 'API reference',
  links: { specification: 'https://example.com/openapi.json', status: 'https://status.example.com/' },
  pages: [
    {
      name: 'overview',
      title: 'Overview',
      description: 'What the API is for and how it is called.',
      markdown: `The API speaks HTTP and JSON. It is described by an [OpenAPI document](template:specification).

| What | Where |
| --- | --- |
| Base address | \`https://api.example.com/v1\` |
| Authentication | [Tokens](./authentication.md) |
| Errors | [Codes and messages](./errors.md) |
| Availability | [Status page](template:status) |
`,
    },
    {
      name: 'authentication',
      title: 'Authentication',
      markdown: `Send a token with each request:

\`\`\`http
GET /v1/me HTTP/1.1
Authorization: Bearer <token>
\`\`\`

{% hint style="warning" %}
Tokens are secrets. Keep them out of code and logs.
{% endhint %}
`,
    },
    {
      name: 'errors',
      title: 'Errors',
      markdown: `Every error has the same shape:

\`\`\`json
{ "error": { "code": 404, "message": "Not found" } }
\`\`\`

| Code | Means | What to do |
| --- | --- | --- |
| 400 | The request is wrong | Correct the field that the message names |
| 401 | The token is missing or has ended | [Authenticate](./authentication.md) |
| 429 | Too many requests | Wait as long as \`Retry-After\` says |
`,
    },
    {
      name: 'paging',
      title: 'Paging',
      markdown: `Lists come in pages. Pass the cursor of one answer to the next request until there is none.
`,
    },
    {
      name: 'resources',
      title: 'Resources',
      markdown: `One page for each resource: its fields, its operations, an example of each. Begin with [the first](./resource.md).
`,
    },
    {
      name: 'resource',
      title: 'A resource',
      into: 'resources',
      markdown: `## Fields

| Field | Type | Meaning |
| --- | --- | --- |
| \`id\` | string | Never changes |

## Create one

\`\`\`http
POST /v1/things HTTP/1.1
Content-Type: application/json

{ "title": "A thing" }
\`\`\`

See [errors](./errors.md) for what can go wrong.
`,
    },
  ],
};

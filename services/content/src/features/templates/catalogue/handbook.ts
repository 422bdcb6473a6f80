import type { Template } from '../model.ts';

/** Handbook of a team or company. */
export const handbook: Template = {
  id: 'handbook',
  title: 'Team handbook',
  links: { chat: 'https://chat.example.com/', calendar: 'https://calendar.example.com/' },
  pages: [
    {
      name: 'home',
      title: 'How we work',
      emoji: '🏠',
      markdown: `Who we are, what we do, and where to find things.

* [Your first week](./first-week.md)
* [Meetings](./meetings.md)
* [Decisions](./decisions.md)

We talk in [the chat](template:chat).
`,
    },
    {
      name: 'first-week',
      title: 'Your first week',
      emoji: '🌱',
      markdown: `- [ ] Meet the people you work with
- [ ] Get access to the tools
- [ ] Read [how we decide](./decisions.md)
- [ ] Improve one page of this handbook
`,
    },
    {
      name: 'practices',
      title: 'Practices',
      markdown: `How we do what we do often.
`,
    },
    {
      name: 'meetings',
      title: 'Meetings',
      into: 'practices',
      markdown: `They stand in [the calendar](template:calendar). Each has a purpose, an owner, and notes that others can read.
`,
    },
    {
      name: 'decisions',
      title: 'Decisions',
      into: 'practices',
      markdown: `A decision is written down where it can be found:

1. What was the question?
2. What did we decide, and why?
3. What did we leave out?

Use [this page](./decision.md) as a pattern.
`,
    },
    {
      name: 'decision',
      title: 'A decision',
      into: 'decisions',
      markdown: `**Status:** proposed

## Question

## Decision

## Consequences
`,
    },
  ],
};

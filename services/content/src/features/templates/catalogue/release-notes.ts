import type { Template } from '../model.ts';

/** Release notes, the newest first. */
export const releaseNotes: Template = {
  id: 'release-notes',
  title: 'Release notes',
  links: { feedback: 'mailto:feedback@example.com' },
  pages: [
    {
      name: 'notes',
      title: 'Release notes',
      emoji: '📣',
      markdown: `The newest release stands first. [Tell us](template:feedback) what you think. How we number releases: [versions](./versions.md).

## 1.0.0

### New

* Something that could not be done before.

### Improved

* Something that is faster or simpler now.

### Fixed

* Something that was wrong, in the words of those who met it.
`,
    },
    {
      name: 'versions',
      title: 'Versions',
      into: 'notes',
      markdown: `| Part | Goes up when |
| --- | --- |
| First | something that worked has to be changed |
| Second | there is something new |
| Third | only errors were corrected |
`,
    },
  ],
};

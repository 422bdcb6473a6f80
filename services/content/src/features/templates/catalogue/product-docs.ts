import type { Template } from '../model.ts';

/** Documentation of a product: start, guides, reference, help. */
export const productDocs: Template = {
  id: 'product-docs',
  title: 'Product documentation',
  links: { website: 'https://example.com/', support: 'mailto:support@example.com' },
  pages: [
    {
      name: 'welcome',
      title: 'Welcome',
      emoji: '👋',
      description: 'What the product does and where to begin.',
      markdown: `Say in two sentences what [your product](template:website) does and for whom.

## Where to begin

* New here? Follow the [quickstart](./quickstart.md).
* Looking for something? See the [guides](./guides.md).
* Stuck? Read [questions and answers](./questions.md) or [write to us](template:support).
`,
    },
    {
      name: 'quickstart',
      title: 'Quickstart',
      emoji: '🚀',
      description: 'From nothing to a first result in five minutes.',
      markdown: `{% hint style="info" %}
Before you begin: say here what readers need to have.
{% endhint %}

## 1. Install

\`\`\`bash
npm install your-product
\`\`\`

## 2. Set up

Explain the smallest configuration that works.

## 3. See the result

Show what readers should see now. Then lead on to the [guides](./guides.md).
`,
    },
    {
      name: 'guides',
      title: 'Guides',
      emoji: '📚',
      description: 'One page for each thing that people want to get done.',
      markdown: `Each guide answers one question, from the problem to the result.

* [A first guide](./first-guide.md)
`,
    },
    {
      name: 'first-guide',
      title: 'A first guide',
      into: 'guides',
      markdown: `Name the task in the title, and the result in the first sentence.

## Steps

1. One action in each step.
2. Say what happens after it.

## What next

Link to the pages that readers need afterwards.
`,
    },
    {
      name: 'questions',
      title: 'Questions and answers',
      emoji: '💬',
      markdown: `## Where do I find …?

Answer in the first sentence, explain in the second.

## Something does not work

List the errors that people meet, word for word, with the remedy of each. [Support](template:support) helps with the rest.
`,
    },
  ],
};

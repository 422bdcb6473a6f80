export { applyTemplateToSpace, type TemplateDeps } from './apply.ts';
export { changesOfTemplate, templates } from './changes.ts';

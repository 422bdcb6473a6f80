export { memberRelationRoutes } from './routes.ts';

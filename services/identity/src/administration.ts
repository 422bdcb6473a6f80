import { type AnyHandler, forbidden, type HandlerMap } from '@bindery/service-kit';

/**
 * Puts the one check of the administration before each of its operations: the caller administers the instance.
 * @throws Problem 403 from the handlers
 */
export const forAdministrators = <H extends HandlerMap | object>(handlers: H): H => {
  const guarded = Object.entries(handlers).map(([id, handler]: [string, AnyHandler]) => {
    const guard: AnyHandler = async (context, request) => {
      if (!context.principal.instanceAdmin)
        throw forbidden('instance.administrators_only', 'Only administrators of the instance may do this.');
      return handler(context, request);
    };
    return [id, guard];
  });
  return Object.fromEntries(guarded) as H;
};

/** Domains in the form in which they are compared, each once. */
export const normalizedDomains = (domains: readonly string[]): readonly string[] => [
  ...new Set(domains.map((domain) => domain.toLowerCase())),
];

/** Domain of an email; undefined when it has none. */
export const domainOf = (email: string | undefined): string | undefined => {
  const at = email?.lastIndexOf('@') ?? -1;
  return email === undefined || at < 0 ? undefined : email.slice(at + 1).toLowerCase();
};

/** What the first start tells its operator, in a frame that stands out among log lines. */
export const welcome = (facts: {
  readonly address: string;
  readonly token: string;
  /** Signs the administrator in with a browser, once. */
  readonly signInLink?: string | undefined;
  readonly tokenFile: string;
}): string => {
  const lines = [
    'Bindery is ready.',
    '',
    `Address   ${facts.address}`,
    `API       ${facts.address}/v1`,
    `Reference ${facts.address}/docs`,
    `Token     ${facts.token}`,
    ...(facts.signInLink === undefined ? [] : [`Sign in   ${facts.signInLink}`]),
    '',
    'This token administers the instance and is shown only now.',
    `It is also in ${facts.tokenFile}, readable by you alone.`,
  ];
  const width = Math.max(...lines.map((line) => line.length));
  const edge = (left: string, right: string): string => `${left}${'─'.repeat(width + 4)}${right}`;
  const framed = lines.map((line) => `│  ${line.padEnd(width)}  │`);
  return [edge('┌', '┐'), ...framed, edge('└', '┘'), ''].join('\n');
};

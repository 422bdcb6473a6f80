/** Ends a run with one plain line that says how many tests passed, failed and were skipped, for whatever reads the output. */
export default class Summary {
  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    process.stderr.write(
      `\n${results.numPassedTests} passed, ${results.numFailedTests + results.numRuntimeErrorTestSuites} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
    );
  }
}

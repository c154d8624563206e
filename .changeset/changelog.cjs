// Writes the lines of CHANGELOG.md without the hashes of commits, which mean nothing to its readers.
module.exports = {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().replaceAll(/\n(?=.)/g, '\n  ')}\n`,
  getDependencyReleaseLine: async () => '',
}

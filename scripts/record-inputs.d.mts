import type { Plugin } from 'esbuild'

export function recordInputs(name: string): Plugin

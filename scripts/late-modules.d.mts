import type { Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as RolldownPlugin } from 'rolldown'
import type { Plugin as VitePlugin } from 'vite'

export declare const LATE: Record<string, string>
export declare const esbuildLate: EsbuildPlugin
export declare const viteLate: VitePlugin & { load(id: string): string | undefined }
export declare function lateModulesOf(format: 'esm' | 'cjs'): RolldownPlugin

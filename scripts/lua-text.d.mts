import type { Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vite'

export declare const esbuildLua: EsbuildPlugin
export declare const viteLua: VitePlugin

import type { Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vite'

export declare function luaText(source: string): string
export declare const esbuildLua: EsbuildPlugin
export declare const viteLua: VitePlugin

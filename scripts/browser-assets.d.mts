import type { Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vite'

export const esbuildAssets: EsbuildPlugin
export const viteAssets: VitePlugin
export declare function assetsOf(format: 'esm' | 'cjs'): import('rolldown').Plugin

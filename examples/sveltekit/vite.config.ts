import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'
import { defineConfig } from 'vite'

const origin = process.env.ORIGIN ?? 'http://127.0.0.1:3000'

export default defineConfig({ plugins: [sveltekit({ adapter: adapter(), paths: { origin } })] })

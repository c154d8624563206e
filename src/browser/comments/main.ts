import { LazyComments } from './lazy-comments.ts'

if (!customElements.get('lazy-comments')) customElements.define('lazy-comments', LazyComments)

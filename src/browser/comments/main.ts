import { LazyComments } from './lazy-comments.ts'

customElements.define('lazy-comments', LazyComments)

// Searches the pages: every word of the query must occur, and titles count most. Works without a server. The index,
// searchIndex, is search_index.js, which scripts/site makes of what mkdocs writes.
document.addEventListener('DOMContentLoaded', () => {
  const input = document.getElementById('mkdocs-search-query');
  const results = document.getElementById('mkdocs-search-results');
  if (!input || !results) return;
  const pages = searchIndex.docs.map(({ location, title, text }) => ({
    location, title, text, words: text.toLowerCase(), heading: title.toLowerCase(),
  }));

  // How often a word occurs, at most ten times; in the title as thirty.
  const score = (page, word) =>
    Math.min(page.words.split(word).length - 1, 10) + (page.heading.includes(word) ? 30 : 0);

  const excerpt = (page, word) => {
    const from = Math.max(page.words.indexOf(word) - 80, 0);
    return page.text.slice(from, from + 240);
  };

  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
    const found = words.length === 0 ? [] : pages
      .map(page => ({ page, scores: words.map(word => score(page, word)) }))
      .filter(({ scores }) => scores.every(value => value > 0))
      .sort((a, b) => b.scores.reduce((x, y) => x + y) - a.scores.reduce((x, y) => x + y))
      .slice(0, 30);
    results.replaceChildren(...found.map(({ page }) => {
      const article = document.createElement('article');
      const link = article.appendChild(document.createElement('h5')).appendChild(document.createElement('a'));
      link.href = `${base_url}/${page.location}`;
      link.textContent = page.title;
      article.appendChild(document.createElement('p')).textContent = excerpt(page, words[0]);
      return article;
    }));
    if (words.length > 0 && found.length === 0) results.textContent = 'No page has all of these words.';
  };
  input.addEventListener('input', search);
  input.form.addEventListener('submit', event => event.preventDefault());
});

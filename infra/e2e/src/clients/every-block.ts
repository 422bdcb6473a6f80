/**
 * Markdown with every kind of block and of inline content that it can say.
 * @param file id of a file of the space
 */
export const everyBlock = (file: string): string => `# Blocks

A paragraph with **bold**, *italic*, ~~struck~~, \`code\`, [a link](https://example.com), $$a^2$$, an
![inline](https://example.com/a.png) image and an emoji :smile:.\\
A new line.

## A heading {#anchor}

### A smaller one

* one
  * deeper
* two

1. first
2. second

- [ ] open
- [x] done

> Said by somebody.

***

\`\`\`js
const a = 1;
\`\`\`

{% code title="a.ts" lineNumbers="true" overflow="wrap" %}
\`\`\`ts
const a: number = 1;
\`\`\`
{% endcode %}

{% hint style="warning" %}
Careful.
{% endhint %}

![A picture](https://example.com/b.png)

<figure><img src="https://example.com/c.png" alt="alt" width="300"><figcaption><p>A caption</p></figcaption></figure>

| Left | Right |
| ---- | :---: |
| a    | **b** |

<table data-view="cards"><thead><tr><th>Title</th><th data-hidden data-card-target data-type="content-ref">Target</th></tr></thead><tbody><tr><td>One</td><td><a href="https://example.com">https://example.com</a></td></tr></tbody></table>

$$
x = 1
$$

{% tabs %}
{% tab title="One" %}
First.
{% endtab %}

{% tab title="Two" %}
Second.
{% endtab %}
{% endtabs %}

<details>

<summary>More</summary>

Hidden text.

</details>

{% embed url="https://example.com/video" %}
A caption
{% endembed %}

{% file src="/files/${file}" %}
A file
{% endfile %}

{% content-ref url="https://example.com" %}
[https://example.com](https://example.com)
{% endcontent-ref %}

{% stepper %}
{% step %}
#### Step one

Do it.
{% endstep %}

{% step %}
#### Step two

Do more.
{% endstep %}
{% endstepper %}

{% columns %}
{% column %}
Left.
{% endcolumn %}

{% column %}
Right.
{% endcolumn %}
{% endcolumns %}

{% openapi src="https://example.com/openapi.json" path="/pets" method="get" %}
[https://example.com/openapi.json](https://example.com/openapi.json)
{% endopenapi %}

{% updates format="full" %}
{% update date="2026-01-01" %}
## News

It works.
{% endupdate %}
{% endupdates %}

{% if visitor.claims.admin %}
For administrators.
{% endif %}

<a href="https://example.com" class="button primary">Press</a>
`;

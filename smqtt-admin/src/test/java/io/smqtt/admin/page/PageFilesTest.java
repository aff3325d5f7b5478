// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageFilesTest {

    /** Without the MQTT client, which only its own page loads. */
    private static final int MAX_BYTES = 60 * 1_024;

    private static final Pattern ASSET =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]*-[A-Za-z0-9_-]{8}\\.(?:js|css|svg)");

    private final PageFiles files = new PageFiles();

    private PageFile file(String path) {
        return Objects.requireNonNull(files.find(path), path);
    }

    private static Set<String> named(PageFile file) {
        Set<String> names = new HashSet<>();
        Matcher asset = ASSET.matcher(new String(file.content(), StandardCharsets.UTF_8));
        while (asset.find()) {
            names.add("assets/" + asset.group());
        }
        return names;
    }

    @Test
    void thePageHasNoInlineScriptAndNoInlineStyle() {
        String page = new String(file("").content(), StandardCharsets.UTF_8);

        assertThat(page).doesNotContain("<style").doesNotContain("style=").doesNotContain(" onload=");
        assertThat(page).doesNotContainPattern("<script[^>]*>[^<]");
        assertThat(file("").contentType()).isEqualTo("text/html; charset=utf-8");
        assertThat(file("").immutable()).isFalse();
    }

    @Test
    void whatAnyPageLoadsIsSmall() {
        int bytes = file("").compressed().length;
        Set<String> all = new HashSet<>(named(file("")));
        for (String name : Set.copyOf(all)) {
            all.addAll(named(file(name)));
        }
        int languages = 0;
        for (String name : all) {
            PageFile asset = file(name);
            assertThat(asset.immutable()).isTrue();
            if (name.startsWith("assets/zh") || name.startsWith("assets/de")) {
                languages = Math.max(languages, asset.compressed().length); // one of them at a time
            } else if (!name.matches("assets/(mqtt|reference|rule-|source-|keys-).*")) { // of one page each
                bytes += asset.compressed().length;
            }
        }

        assertThat(all).hasSizeGreaterThanOrEqualTo(6);
        assertThat(bytes + languages).isBetween(20 * 1_024, MAX_BYTES);
    }

    @Test
    void aFileIsCompressedOnceAndHasATag() throws IOException {
        PageFile page = file("");

        assertThat(new GZIPInputStream(new ByteArrayInputStream(page.compressed())).readAllBytes())
                .isEqualTo(page.content());
        assertThat(page.etag()).matches("\"[0-9a-f]{24}\"");
        assertThat(files.find("")).isSameAs(page);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../PageFiles.class",
                "assets/../index.html",
                "assets/%2e%2e/index.html",
                "..",
                "assets/",
                "assets/.hidden.js",
                "/etc/passwd",
                "assets//x.js",
                "PageFiles.class",
                "nothing.js",
                "index.html\0.js",
                "assets\\index.html"
            })
    void nothingElseIsFound(String path) {
        assertThat(files.find(path)).isNull();
    }

    @Test
    void aNameWithoutEndIsNotFound() {
        assertThat(files.find("a".repeat(10_000) + ".js")).isNull();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PageTest {

    @Test
    void aPageKeepsNoMoreThanItShows() {
        AtomicInteger shaped = new AtomicInteger();
        Page.Builder<Integer, String> page = new Page.Builder<>(
                2,
                1_000,
                number -> {
                    shaped.incrementAndGet();
                    return "number " + number;
                },
                String::length);

        IntStream.range(0, 1_000).forEach(page::add);

        assertThat(page.build().total()).isEqualTo(1_000);
        assertThat(page.build().shown()).containsExactly("number 0", "number 1");
        assertThat(page.build().truncated()).isFalse();
        assertThat(shaped).hasValue(2);
    }

    @Test
    void aPageThatIsTooLongSaysSo() {
        Page.Builder<String, String> page = new Page.Builder<>(10, 5, one -> one, String::length);

        page.add("abc");
        page.add("def");
        page.add("g"); // would have room, and is behind one that has not

        assertThat(page.build()).isEqualTo(new Page<>(3, List.of("abc"), true));
    }
}

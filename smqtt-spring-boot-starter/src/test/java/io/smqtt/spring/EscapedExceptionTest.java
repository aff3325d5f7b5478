// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class EscapedExceptionTest {

    @Test
    void textsOfExceptionsForgeNoLines() {
        Exception inner = new NumberFormatException("For input string: \"x\n1970-01-01 INFO all is well\u001b[2J\"");
        Exception error = new IllegalArgumentException("outer", inner);
        error.addSuppressed(new IllegalStateException("z\rz"));

        Throwable shown = EscapedException.of(error);

        assertThat(shown.getCause()).hasMessageStartingWith("java.lang.NumberFormatException: For input string");
        StringWriter text = new StringWriter();
        shown.printStackTrace(new PrintWriter(text, true));
        assertThat(text.toString().lines()).noneMatch(line -> line.startsWith("1970"));
        assertThat(text.toString())
                .doesNotContain("\u001b", "z\rz")
                .contains("outer", "\\u000a1970-01-01", "z\\u000dz", "textsOfExceptionsForgeNoLines");
    }

    @Test
    void anExceptionWithCleanTextsIsItself() {
        Exception error = new IllegalStateException("clean", new RuntimeException("as well"));

        assertThat(EscapedException.of(error)).isSameAs(error);
    }
}

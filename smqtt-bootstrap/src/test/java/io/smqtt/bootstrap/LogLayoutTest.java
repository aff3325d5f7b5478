// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.LayoutBase;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class LogLayoutTest {

    private static final String HOSTILE = "client \u001b[2J\r\n2026 INFO forged \"x\\y\" \u202e";

    @AfterEach
    void restoreDefaults() {
        LogbackSetup.apply(LoggingConfig.defaults());
    }

    @Test
    void textOfAPeerStaysOnItsLine() {
        assertThat(new TextLayout().doLayout(event(HOSTILE, null)))
                .endsWith(" WARN [main] Session: client \\u001b[2J\\u000d\\u000a2026 INFO forged \"x\\y\" \\u202e\n");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-02T03:04:05Z, 2026-01-02T03:04:05.000Z",
        "2026-01-02T03:04:00Z, 2026-01-02T03:04:00.000Z",
        "2026-01-02T03:04:05.1Z, 2026-01-02T03:04:05.100Z",
        "2026-12-31T23:59:59.999999Z, 2026-12-31T23:59:59.999Z",
    })
    void timesHaveMillisecondsInUtcAndOneWidth(String instant, String shown) {
        LoggingEvent event = event("m", null);
        event.setInstant(Instant.parse(instant));

        assertThat(new TextLayout().doLayout(event)).startsWith(shown + " WARN [main] ");
        assertThat(new JsonLayout().doLayout(event)).startsWith("{\"time\":\"" + shown + "\",\"level\":");
    }

    @Test
    void jsonIsOneLineWithEscapedText() {
        String line = new JsonLayout().doLayout(event(HOSTILE, null));

        assertThat(line)
                .startsWith("{\"time\":\"2026-")
                .contains("\"level\":\"WARN\"", "\"logger\":\"io.smqtt.session.Session\"")
                .endsWith(
                        "\"message\":\"client \\\\u001b[2J\\\\u000d\\\\u000a2026 INFO forged \\\"x\\\\y\\\" \\\\u202e\"}\n");
        assertThat(line.indexOf('\n')).isEqualTo(line.length() - 1);
    }

    @Test
    void exceptionsAndTheirCausesAreEscapedToo() {
        RuntimeException failure = new IllegalStateException("outer\u001b", new IllegalArgumentException("in\nner"));

        String text = new TextLayout().doLayout(event("m", failure));
        String json = new JsonLayout().doLayout(event("m", failure));

        assertThat(text)
                .contains("java.lang.IllegalStateException: outer\\u001b\n    at ")
                .contains("caused by java.lang.IllegalArgumentException: in\\u000aner\n");
        assertThat(json).contains("\"exception\":\"java.lang.IllegalStateException: outer\\\\u001b\\n    at ");
        assertThat(json.lines()).hasSize(1);
    }

    @Test
    void endlessMessageEnds() {
        assertThat(new TextLayout().doLayout(event("x".repeat(1_000_000), null)))
                .hasSizeLessThan(5_000);
    }

    @Test
    void levelsOfBrokerAndLibrariesAreSeparate() {
        LogbackSetup.apply(
                new LoggingConfig(LoggingConfig.Level.DEBUG, LoggingConfig.Level.ERROR, LoggingConfig.Format.JSON));

        assertThat(LoggerFactory.getLogger("io.smqtt.session").isDebugEnabled()).isTrue();
        assertThat(LoggerFactory.getLogger("io.netty").isWarnEnabled()).isFalse();
        assertThat(LoggerFactory.getLogger("io.netty").isErrorEnabled()).isTrue();
    }

    private static LoggingEvent event(String message, @Nullable Throwable failure) {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        LoggingEvent event = new LoggingEvent(
                LayoutBase.class.getName(),
                context.getLogger("io.smqtt.session.Session"),
                Level.WARN,
                message,
                failure,
                new Object[0]);
        event.setInstant(Instant.parse("2026-01-02T03:04:05Z"));
        event.setThreadName("main");
        return event;
    }
}

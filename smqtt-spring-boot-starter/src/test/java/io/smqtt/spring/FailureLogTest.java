// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class FailureLogTest {

    private final AtomicLong nanoTime = new AtomicLong(Long.MAX_VALUE - 5); // may run over
    private final FailureLog log = new FailureLog("bean.method", nanoTime::get);
    private final Logger logger = (Logger) LoggerFactory.getLogger(MqttListener.class);
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    @BeforeEach
    void listen() {
        appender.start();
        logger.addAppender(appender);
    }

    @AfterEach
    void leave() {
        logger.detachAppender(appender);
    }

    @Test
    void oneAMinuteIsToldWithTheNumberOfTheOthers() {
        for (int i = 0; i < 1_000; i++) {
            log.failed("a/" + i, new IllegalStateException("as wanted by the test"));
        }
        nanoTime.addAndGet(TimeUnit.MINUTES.toNanos(1));
        log.failed("b", new IllegalStateException("as wanted by the test"));
        log.failed("c", new IllegalStateException("as wanted by the test"));
        nanoTime.addAndGet(TimeUnit.MINUTES.toNanos(1));
        log.failed("d", new IllegalStateException("as wanted by the test"));

        assertThat(appender.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "bean.method failed with a message of topic a/0",
                        "bean.method failed with a message of topic b, and with 999 messages before it",
                        "bean.method failed with a message of topic d, and with 1 messages before it");
        assertThat(appender.list)
                .allSatisfy(event -> assertThat(event.getThrowableProxy().getClassName())
                        .isEqualTo(IllegalStateException.class.getName()));
    }

    @Test
    void neitherTopicNorTextsOfExceptionsForgeLines() {
        Exception inner = new NumberFormatException("For input string: \"x\n1970-01-01 INFO all is well\u001b[2J\"");
        Exception error = new IllegalArgumentException("outer", inner);
        error.addSuppressed(new IllegalStateException("z\rz"));

        log.failed("a\nERROR b\u202e", error);

        assertThat(appender.list).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage()).endsWith("topic a\\u000aERROR b\\u202e");
            String shown = ThrowableProxyUtil.asString(event.getThrowableProxy());
            assertThat(shown.lines()).noneMatch(line -> line.startsWith("1970"));
            assertThat(shown)
                    .doesNotContain("\u001b", "z\rz")
                    .contains("outer", "\\u000a1970-01-01", "z\\u000dz", "neitherTopicNorTextsOfExceptionsForgeLines");
            IThrowableProxy cause = event.getThrowableProxy().getCause();
            assertThat(cause.getMessage()).startsWith("java.lang.NumberFormatException: For input string");
        });
    }
}

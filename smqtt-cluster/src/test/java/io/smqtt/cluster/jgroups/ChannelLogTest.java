// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ChannelLogTest {

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void listen() {
        lines.start();
        logger().addAppender(lines);
    }

    @AfterEach
    void listenNoMore() {
        logger().detachAppender(lines);
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger(ChannelLog.class);
    }

    @Test
    void warningsAndErrorsAreSixAMinute() {
        ChannelLog log = new ChannelLog();

        log.warn("%s: %d", "nonsense", 1);
        log.error("broken", new IllegalStateException("x"));
        log.error("100% odd %s");
        for (int i = 0; i < 1_000; i++) {
            log.warn("more");
        }

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "nonsense: 1",
                        "broken: java.lang.IllegalStateException: x",
                        "100% odd %s",
                        "more",
                        "more",
                        "more");
    }
}

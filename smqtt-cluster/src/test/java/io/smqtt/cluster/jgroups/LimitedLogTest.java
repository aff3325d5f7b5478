// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LimitedLogTest {

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private long now = TimeUnit.DAYS.toNanos(1);

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
        return (Logger) LoggerFactory.getLogger(LimitedLog.class);
    }

    @Test
    void oneLineInTenSecondsSaysHowManyWereLeftOut() {
        LimitedLog log = new LimitedLog(() -> now);

        for (int i = 0; i < 1_000; i++) {
            log.warn("%s: %d", "nonsense", i);
            log.error("broken", new IllegalStateException("x"));
        }
        now += TimeUnit.SECONDS.toNanos(10);
        log.error("100% odd %s");

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("nonsense: 0", "100% odd %s (and 1999 more lines before)");
    }
}

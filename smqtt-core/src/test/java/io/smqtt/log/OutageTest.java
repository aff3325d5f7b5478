// SPDX-License-Identifier: Apache-2.0
package io.smqtt.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

class OutageTest {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // may run over
    private final Logger log = (Logger) LoggerFactory.getLogger(OutageTest.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Outage outage = new Outage(log, Level.ERROR, "x is away", "x is back", nanos::get);

    @BeforeEach
    void listen() {
        log.setLevel(ch.qos.logback.classic.Level.INFO);
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void leave() {
        log.detachAppender(lines);
    }

    @Test
    void theBeginIsLoggedAtOnceThenOneMessageAMinuteAndTheEndWithTheDuration() {
        fail(100);
        assertThat(logged()).containsExactly("ERROR x is away: refused");

        pass(Duration.ofSeconds(60));
        fail(3);
        assertThat(logged())
                .containsExactly("ERROR x is away: refused (for 60.0 s, 99 more failures since the last message)");

        pass(Duration.ofMillis(1_500));
        outage.recovered();
        outage.recovered();
        assertThat(logged()).containsExactly("INFO x is back after 61.5 s, 2 more failures since the last message");
    }

    @Test
    void anotherOutageIsLoggedAtOnceIfTheLastMessageIsTenSecondsOld() {
        fail(1);
        pass(Duration.ofSeconds(10));
        outage.recovered();
        fail(1);

        assertThat(logged())
                .containsExactly("ERROR x is away: refused", "INFO x is back after 10.0 s", "ERROR x is away: refused");
    }

    @Test
    void oneThatComesAndGoesIsLoggedOnceInTenSeconds() {
        for (int i = 0; i < 100; i++) {
            fail(1);
            outage.recovered();
            pass(Duration.ofMillis(100));
        }
        assertThat(logged()).containsExactly("ERROR x is away: refused", "INFO x is back after 0.0 s");

        fail(1);
        assertThat(logged())
                .containsExactly("ERROR x is away: refused (for 0.0 s, 99 more failures since the last message)");
    }

    @Test
    void oneThatFollowsAnotherAndLastsIsLoggedTenSecondsAfterTheLastMessage() {
        fail(1);
        outage.recovered();
        logged();
        for (int i = 0; i < 20; i++) {
            fail(1);
            pass(Duration.ofSeconds(1));
        }
        outage.recovered();

        assertThat(logged())
                .containsExactly(
                        "ERROR x is away: refused (for 10.0 s, 10 more failures since the last message)",
                        "INFO x is back after 20.0 s, 9 more failures since the last message");
    }

    @Test
    void whatHasNotBegunDoesNotEnd() {
        outage.recovered();

        assertThat(logged()).isEmpty();
    }

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            outage.failed("refused");
        }
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    /** {@return what was logged since the last call} */
    private List<String> logged() {
        List<String> all = lines.list.stream()
                .map(line -> line.getLevel() + " " + line.getFormattedMessage())
                .toList();
        lines.list.clear();
        return all;
    }
}

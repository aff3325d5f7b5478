// SPDX-License-Identifier: Apache-2.0
package io.smqtt.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.slf4j.event.Level.WARN;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.github.benmanes.caffeine.cache.Scheduler;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogLimiterTest {

    private final AtomicLong nanos = new AtomicLong();
    private final Logger log = (Logger) LoggerFactory.getLogger(LogLimiterTest.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final LogLimiter limiter = new LogLimiter(log, WARN, 2, 5, nanos::get, Scheduler.disabledScheduler());

    @BeforeEach
    void listen() {
        log.setLevel(Level.INFO);
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void leave() {
        log.detachAppender(lines);
    }

    @Test
    void aKeyHasItsLinesEachMinuteAndTheRestIsCounted() {
        assertThat(allowed("a", 5)).isEqualTo(2);
        assertThat(allowed("b", 1)).isEqualTo(1);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        limiter.settle();

        assertThat(logged()).containsExactly("3 more messages like these were suppressed within a minute: a");
        assertThat(allowed("a", 1)).isEqualTo(1);
    }

    @Test
    void allKeysTogetherHaveALimit() {
        int allowed = 0;
        for (int i = 0; i < 20; i++) {
            allowed += allowed("key" + i, 1);
        }
        assertThat(allowed).isEqualTo(5);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        limiter.settle();

        assertThat(logged())
                .containsExactly("15 more messages like these were suppressed within a minute: all of them together");
    }

    @Test
    void anAddressIsShownWithoutItsHostName() throws UnknownHostException {
        limiter.allows(InetAddress.getByAddress("a.example", new byte[] {10, 0, 0, 1}));
        limiter.allows(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}));
        limiter.allows(InetAddress.getByAddress("b.example", new byte[] {10, 0, 0, 1}));
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        limiter.settle();

        assertThat(logged()).containsExactly("1 more messages like these were suppressed within a minute: 10.0.0.1");
    }

    @Test
    void keysOfTheProgramHaveNoLimitTogether() {
        LogLimiter each = new LogLimiter(log, WARN, 1, Integer.MAX_VALUE, nanos::get, Scheduler.disabledScheduler());
        for (int i = 0; i < 100; i++) {
            assertThat(each.allows("key" + i)).isTrue();
            assertThat(each.allows("key" + i)).isFalse();
        }
    }

    @Test
    void theNumberIsLoggedAtTheLevelOfTheMessagesAndForgesNoLine() {
        allowed("a\nb", 3);
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        limiter.settle();

        assertThat(lines.list).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.WARN);
            assertThat(line.getFormattedMessage()).endsWith(": a\\u000ab");
        });
    }

    private int allowed(String key, int times) {
        int allowed = 0;
        for (int i = 0; i < times; i++) {
            allowed += limiter.allows(key) ? 1 : 0;
        }
        return allowed;
    }

    private List<String> logged() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** The lines that bridges log while this is open. */
final class LoggedLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.smqtt.bridge");
    private final List<String> lines = new CopyOnWriteArrayList<>();

    LoggedLines() {
        start();
        logger.setLevel(Level.INFO);
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        lines.add(event.getFormattedMessage());
    }

    List<String> with(String part) {
        return lines.stream().filter(line -> line.contains(part)).toList();
    }

    void awaitLine(String part) {
        await().atMost(Duration.ofSeconds(20)).until(() -> !with(part).isEmpty());
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setLevel(null);
        stop();
    }
}

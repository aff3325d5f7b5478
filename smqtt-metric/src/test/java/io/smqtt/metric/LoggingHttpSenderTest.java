// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.ipc.http.HttpSender;
import io.smqtt.log.Outage;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** What is logged of a collector that takes no metrics. */
class LoggingHttpSenderTest {

    private final Logger log = (Logger) LoggerFactory.getLogger(LoggingHttpSenderTest.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final List<String> asked = new ArrayList<>();
    private int status = 204;
    private int statusOfCreation = 200;
    private boolean unreachable;
    private LoggingHttpSender sender;

    @BeforeEach
    void create() {
        HttpSender network = request -> {
            asked.add(request.getUrl().getPath());
            if (unreachable) {
                throw new ConnectException("Connection refused");
            }
            boolean creates = request.getUrl().getPath().equals("/query");
            return new HttpSender.Response(creates ? statusOfCreation : status, "because\nof that");
        };
        sender = new LoggingHttpSender(
                network,
                new Outage(log, Level.WARN, "metrics to x could not be sent", "metrics to x can be sent again"));
        log.setLevel(ch.qos.logback.classic.Level.INFO);
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void leave() {
        log.detachAppender(lines);
    }

    private List<String> logged() {
        return lines.list.stream()
                .map(line -> line.getLevel() + " " + line.getFormattedMessage())
                .toList();
    }

    /** {@return whether the registry would keep silent} */
    private boolean send(String path) throws Throwable {
        return sender.post("http://127.0.0.1:1" + path).send().isSuccessful();
    }

    @Test
    void anOutageIsLoggedOnceAndItsEnd() throws Throwable {
        unreachable = true;
        for (int i = 0; i < 100; i++) {
            assertThat(send("/v1/metrics")).isTrue();
        }
        assertThat(logged())
                .containsExactly("WARN metrics to x could not be sent: java.net.ConnectException: Connection refused");

        unreachable = false;
        send("/v1/metrics");
        send("/v1/metrics");
        assertThat(logged())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("INFO metrics to x can be sent again after ")
                .contains("99 more failures");
    }

    @Test
    void whatIsRefusedIsToldWithTheAnswer() throws Throwable {
        status = 500;
        assertThat(send("/v1/metrics")).isTrue();

        assertThat(logged()).containsExactly("WARN metrics to x could not be sent: it answers 500 because of that");
    }

    @Test
    void aDatabaseIsMadeWhenItCanBe() throws Throwable {
        unreachable = true;
        assertThat(send("/query")).isTrue();
        send("/write");
        assertThat(asked).containsExactly("/query");

        unreachable = false;
        send("/write");
        send("/write");
        assertThat(asked).containsExactly("/query", "/query", "/write", "/write");
    }

    /** Who may write need not be allowed to make databases. */
    @Test
    void aDatabaseThatCannotBeMadeMayBeThere() throws Throwable {
        statusOfCreation = 403;
        send("/query");
        send("/write");
        assertThat(asked).containsExactly("/query", "/write");
        assertThat(logged()).isEmpty();

        status = 404;
        send("/write");
        assertThat(logged()).singleElement().asString().contains("404", "the database cannot be made", "403");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.ipc.http.HttpSender;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is told of somebody who takes no metrics, and how often. */
class ToldSenderTest {

    private final List<String> warnings = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();
    private final AtomicLong now = new AtomicLong();
    private int status = 204;
    private int statusOfCreation = 200;
    private boolean unreachable;
    private ToldSender sender;

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
        sender = new ToldSender(network, new Outage("metrics to x", warnings::add, notes::add, now::get));
    }

    /** {@return whether the registry would keep silent} */
    private boolean send(String path) throws Throwable {
        return sender.post("http://127.0.0.1:1" + path).send().isSuccessful();
    }

    @Test
    void anOutageIsToldAtOnceThenOnceAMinuteAndItsEnd() throws Throwable {
        unreachable = true;
        for (int i = 0; i < 100; i++) {
            assertThat(send("/v1/metrics")).isTrue();
        }
        assertThat(warnings).hasSize(1);
        assertThat(warnings.get(0)).contains("metrics to x could not be sent", "Connection refused");

        now.addAndGet(Duration.ofMinutes(1).toNanos());
        send("/v1/metrics");
        send("/v1/metrics");
        assertThat(warnings).hasSize(2);
        assertThat(warnings.get(1)).contains("99 more times");
        assertThat(notes).isEmpty();

        unreachable = false;
        send("/v1/metrics");
        send("/v1/metrics");
        assertThat(notes).singleElement().asString().contains("metrics to x can be sent again");

        unreachable = true;
        send("/v1/metrics"); // another outage
        assertThat(warnings).hasSize(3);
    }

    @Test
    void whatIsRefusedIsToldWithTheAnswer() throws Throwable {
        status = 500;
        assertThat(send("/v1/metrics")).isTrue();

        assertThat(warnings).containsExactly("metrics to x could not be sent: it answers 500 because of that");
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
        assertThat(warnings).isEmpty();

        status = 404;
        send("/write");
        assertThat(warnings).singleElement().asString().contains("404", "the database cannot be made", "403");
    }
}

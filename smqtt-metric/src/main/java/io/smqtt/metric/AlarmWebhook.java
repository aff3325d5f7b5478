// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.ipc.http.HttpSender;
import io.micrometer.core.ipc.http.HttpUrlConnectionSender;
import io.smqtt.config.AlarmConfig;
import io.smqtt.log.Outage;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Sends alarms to a URL, one after the other, as POST with JSON. What fails is sent again, first after a second, then less often. At most {@link
 * #MOST_WAITING} wait; beyond that the oldest is dropped and logged.
 */
@AnyThread
final class AlarmWebhook {

    static final int MOST_WAITING = 200;

    private static final Logger LOG = LoggerFactory.getLogger(AlarmWebhook.class);
    private static final Duration CONNECT = Duration.ofSeconds(2);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final long FIRST_PAUSE_MILLIS = 1_000;
    private static final long LONGEST_PAUSE_MILLIS = TimeUnit.MINUTES.toMillis(1);

    private final HttpSender http = new HttpUrlConnectionSender(CONNECT, ANSWER);
    private final Scheduler.Worker worker = Schedulers.boundedElastic().createWorker();
    private final String url;
    private final @Nullable String token;
    private final Outage outage;

    /** Guarded by this. */
    private final ArrayDeque<String> waiting = new ArrayDeque<>();

    private boolean busy; // guarded by this
    private long pauseMillis = FIRST_PAUSE_MILLIS; // owned by the worker

    private AlarmWebhook(String url, @Nullable String token) {
        this.url = url;
        this.token = token;
        int query = url.indexOf('?'); // may hold a password
        String where = query < 0 ? url : url.substring(0, query);
        outage = new Outage(
                LOG, Level.WARN, "alarms to " + where + " could not be sent", "alarms to " + where + " are sent again");
    }

    /** The configured webhook; null without one. */
    static @Nullable AlarmWebhook of(AlarmConfig config) {
        String url = config.webhook();
        return url == null ? null : new AlarmWebhook(url, config.webhookToken());
    }

    /** Sends an alarm in JSON. Does not block. */
    synchronized void send(String json) {
        if (waiting.size() == MOST_WAITING) {
            LOG.warn("an alarm for the webhook is dropped, because {} wait: {}", MOST_WAITING, waiting.remove());
        }
        waiting.add(json);
        if (!busy && !worker.isDisposed()) {
            busy = true;
            worker.schedule(this::sendNext);
        }
    }

    void stop() {
        worker.dispose();
    }

    private synchronized @Nullable String first() {
        String json = waiting.peek();
        busy = json != null;
        return json;
    }

    private synchronized void sent(String json) {
        if (waiting.peek() == json) { // it may have been dropped
            waiting.remove();
        }
    }

    private void sendNext() {
        String json = first();
        if (json == null) {
            return;
        }
        if (isTaken(json)) {
            sent(json);
            outage.recovered();
            pauseMillis = FIRST_PAUSE_MILLIS;
            continueAfter(0);
        } else {
            continueAfter(pauseMillis);
            pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, 2 * pauseMillis);
        }
    }

    private void continueAfter(long millis) {
        try {
            worker.schedule(this::sendNext, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("stopped while an alarm was sent", e);
        }
    }

    @SuppressWarnings("IllegalCatch") // what the interface throws
    private boolean isTaken(String json) {
        try {
            HttpSender.Request.Builder request =
                    HttpSender.Request.build(url, http).withJsonContent(json);
            if (token != null) {
                request.withAuthentication("Bearer", token);
            }
            HttpSender.Response response =
                    request.withMethod(HttpSender.Method.POST).send();
            if (response.isSuccessful()) {
                return true;
            }
            outage.failed("it answers " + response.code());
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            outage.failed(e.toString());
        }
        return false;
    }
}

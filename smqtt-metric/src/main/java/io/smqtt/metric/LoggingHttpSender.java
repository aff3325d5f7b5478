// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.ipc.http.HttpSender;
import io.smqtt.log.Outage;
import io.smqtt.thread.AnyThread;
import org.jspecify.annotations.Nullable;

/**
 * Sends meters and logs failures itself, one per minute. The registry would log an error with a stack trace each time, so it only gets
 * successes. The request to create the InfluxDB database is repeated until it succeeds.
 */
@AnyThread
final class LoggingHttpSender implements HttpSender {

    private static final Response TAKEN = new Response(200, null);
    private static final int MOST_CHARS = 200;

    private final HttpSender http;
    private final Outage outage;

    /** The request that creates the database, until it has succeeded; null if there is none. */
    private volatile @Nullable Request creation;

    /**
     * Creates one.
     *
     * @param http sends the requests
     * @param outage logs the failures
     */
    LoggingHttpSender(HttpSender http, Outage outage) {
        this.http = http;
        this.outage = outage;
    }

    /** {@return a success always} */
    @Override
    public Response send(Request request) {
        if (request.getUrl().getPath().endsWith("/query")) {
            creation = request; // repeated with the next meters, which are sent at once
            return TAKEN;
        }
        try {
            Request database = creation;
            String refused = "";
            if (database != null) {
                Response made = sent(database);
                if (made.isSuccessful()) {
                    creation = null;
                } else {
                    refused = ", and the database cannot be made: " + answer(made); // it may be there
                }
            }
            Response response = sent(request);
            if (response.isSuccessful()) {
                outage.recovered();
            } else {
                outage.failed(answer(response) + refused);
            }
        } catch (Exception e) {
            outage.failed(e.toString());
        }
        return TAKEN;
    }

    @SuppressWarnings("IllegalCatch") // what the interface throws
    private Response sent(Request request) throws Exception {
        try {
            return http.send(request);
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static String answer(Response response) {
        String body = response.body();
        String text = body == null ? "" : body.strip().replaceAll("\\p{Cntrl}+", " ");
        return "it answers " + response.code()
                + (text.isEmpty() || text.equals(Response.NO_RESPONSE_BODY)
                        ? ""
                        : " " + text.substring(0, Math.min(text.length(), MOST_CHARS)));
    }
}

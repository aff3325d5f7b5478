// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import io.smqtt.access.backend.BackendContext;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Fetches one document over HTTP, with a thread and connections of its own. Redirects are not followed. */
@AnyThread
public final class HttpFetch {

    private static final int OK = 200;

    private final HttpSender sender;
    private final HttpQuestion.Filled question;

    /**
     * Creates the thread. Does not connect.
     *
     * @param context the backend that fetches
     * @param url the URL of the document
     * @param authorities the authorities that are trusted; null for those of Java
     */
    public HttpFetch(BackendContext context, String url, @Nullable TrustManagerFactory authorities) {
        sender = new HttpSender(context, authorities);
        question = new HttpQuestion.Filled(true, url, Map.of("accept", "application/json"), null);
    }

    /**
     * Fetches the document.
     *
     * @return the body of an answer with the status 200, at most 1 MiB; otherwise an error whose message has nothing of the body
     */
    public Mono<String> body() {
        return sender.send(question).map(answer -> {
            if (answer.status() != OK) {
                throw new HttpFailedException("status " + answer.status());
            }
            return answer.body();
        });
    }

    /** Closes connections and thread. Blocks for a few seconds at most. */
    public void close() {
        sender.close();
    }
}

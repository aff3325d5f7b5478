// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.smqtt.admin.Json;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;

/** An answer of the API. Immutable. */
public sealed interface ApiAnswer {

    /**
     * Returns the status.
     *
     * @return the HTTP status, 200 to 599
     */
    int status();

    /**
     * Returns the headers.
     *
     * @return header values by name, Content-Type and Content-Length not included
     */
    Map<String, String> headers();

    /**
     * Returns the media type.
     *
     * @return the Content-Type; empty if there is no content
     */
    String contentType();

    /**
     * The part that has failed although the status says success, such as one of several files; for the audit.
     *
     * @return a text that can be logged; empty if nothing has failed, or the status says it
     */
    default String failure() {
        return "";
    }

    /**
     * Adds a header.
     *
     * @param name the name
     * @param value the value
     * @return the answer with the header
     */
    ApiAnswer with(String name, String value);

    /**
     * An answer that is complete.
     *
     * @param status the HTTP status
     * @param headers header values by name
     * @param contentType the media type; empty if there is no content
     * @param body the content; not to be changed any more
     * @param failure what has failed although the status says success; empty for nothing
     */
    @SuppressWarnings("ArrayRecordComponent") // answers are never compared
    record Content(int status, Map<String, String> headers, String contentType, byte[] body, String failure)
            implements ApiAnswer {

        /** Copies the headers. */
        public Content {
            headers = Map.copyOf(headers);
        }

        @Override
        public Content with(String name, String value) {
            return new Content(status, more(headers, name, value), contentType, body, failure);
        }

        Content ofType(String type) {
            return new Content(status, headers, type, body, failure);
        }

        /**
         * Says that something has failed although the status says success.
         *
         * @param what the names of what has failed; empty if nothing has
         * @return the answer with this failure
         */
        public Content failing(List<String> what) {
            return new Content(status, headers, contentType, body, String.join("; ", what));
        }
    }

    /**
     * An answer in parts. Each part is flushed.
     *
     * @param status the HTTP status
     * @param headers header values by name
     * @param contentType the media type
     * @param parts what is sent, from the subscription on; cancelled when the connection ends
     * @param live whether parts come by themselves and without an end, such as server-sent events; otherwise they come as they are asked for
     */
    record Stream(int status, Map<String, String> headers, String contentType, Flux<byte[]> parts, boolean live)
            implements ApiAnswer {

        /** Copies the headers. */
        public Stream {
            headers = Map.copyOf(headers);
        }

        @Override
        public Stream with(String name, String value) {
            return new Stream(status, more(headers, name, value), contentType, parts, live);
        }

        /**
         * Replaces the parts.
         *
         * @param others what is sent instead
         * @return the answer with these parts
         */
        public Stream of(Flux<byte[]> others) {
            return new Stream(status, headers, contentType, others, live);
        }
    }

    private static Map<String, String> more(Map<String, String> headers, String name, String value) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.put(name, value);
        return all;
    }

    /**
     * JSON with status 200.
     *
     * @param value a map or a list of maps, lists, texts, numbers, booleans and null
     * @return the answer
     */
    static Content json(Object value) {
        return json(200, value);
    }

    /**
     * JSON.
     *
     * @param status the HTTP status
     * @param value a map or a list of maps, lists, texts, numbers, booleans and null
     * @return the answer
     */
    static Content json(int status, Object value) {
        return content(status, "application/json", Json.bytesOf(value));
    }

    /**
     * Any content.
     *
     * @param status the HTTP status
     * @param type the media type
     * @param body the content; not to be changed any more
     * @return the answer
     */
    static Content content(int status, String type, byte[] body) {
        return new Content(status, Map.of(), type, body, "");
    }

    /**
     * A text.
     *
     * @param status the HTTP status
     * @param type the media type
     * @param text sent in UTF-8
     * @return the answer
     */
    static Content text(int status, String type, String text) {
        return content(status, type, text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Success without content.
     *
     * @return an answer with status 204
     */
    static Content noContent() {
        return content(204, "", new byte[0]);
    }

    /**
     * An answer without an end of its own.
     *
     * @param type the media type, such as {@code text/event-stream}
     * @param parts what is sent
     * @return an answer with status 200
     */
    static Stream stream(String type, Flux<byte[]> parts) {
        return new Stream(200, Map.of(), type, parts, true);
    }

    /**
     * A file that is read while it is sent, as its reader takes it.
     *
     * @param type the media type
     * @param parts the content
     * @return an answer with status 200
     */
    static Stream download(String type, Flux<byte[]> parts) {
        return new Stream(200, Map.of(), type, parts, false);
    }
}

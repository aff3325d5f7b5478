// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Makes keys of requests: an HMAC under a key that never leaves the process, so that a dump of the memory has no passwords of the cache
 * that could be tried offline without it.
 */
@AnyThread
final class RequestKey {

    private static final String ALGORITHM = "HmacSHA256";
    private static final int KEY_BYTES = 32;

    /** Has the key, and is only copied: a copy is cheaper than a new one. */
    private final Mac prototype;

    private final boolean withPort;

    /**
     * Creates a key of this process.
     *
     * @param withPort whether requests depend on the port of the client, so that no two connections have the same
     */
    RequestKey(boolean withPort) {
        this.withPort = withPort;
        byte[] random = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(random);
        try {
            prototype = Mac.getInstance(ALGORITHM);
            prototype.init(new SecretKeySpec(random, ALGORITHM));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every Java has it
        }
    }

    ByteBuffer of(String kind, BackendRequest request) {
        Fields fields = new Fields();
        fields.add(kind);
        add(fields, request);
        return hash(fields);
    }

    ByteBuffer of(TopicRequest request) {
        Fields fields = new Fields();
        fields.add("topic");
        add(fields, request.client());
        fields.add(request.action().name());
        fields.add(request.topic());
        fields.add(request.qos().name());
        fields.add(String.valueOf(request.retain()));
        return hash(fields);
    }

    /** All that a template can use; the port only where one does. */
    private void add(Fields fields, BackendRequest request) {
        fields.add(request.clientId());
        fields.add(request.userName());
        fields.add(request.password());
        fields.add(request.value("peerhost"));
        if (withPort) {
            fields.add(request.value("peerport"));
        }
        fields.add(request.listener());
        fields.add(request.version().name());
        fields.add(request.certificate().subject());
        fields.add(request.certificate().encoded());
        for (Map.Entry<String, String> attribute : new TreeMap<>(request.attributes()).entrySet()) {
            fields.add(attribute.getKey());
            fields.add(attribute.getValue());
        }
    }

    private ByteBuffer hash(Fields fields) {
        try {
            Mac mac = (Mac) prototype.clone();
            return ByteBuffer.wrap(mac.doFinal(fields.bytes.toByteArray()));
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Texts with their lengths, so that no two lists have the same bytes. */
    private static final class Fields {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);

        void add(@Nullable String text) {
            add(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
        }

        void add(byte @Nullable [] field) {
            int length = field == null ? -1 : field.length;
            bytes.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(length).array());
            if (field != null) {
                bytes.writeBytes(field);
            }
        }
    }
}

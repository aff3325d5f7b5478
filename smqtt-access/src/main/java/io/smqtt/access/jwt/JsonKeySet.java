// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import io.smqtt.thread.AnyThread;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The public keys of a JSON Web Key Set. Keys that cannot be used, such as those for encryption, are left out. Immutable. */
@AnyThread
final class JsonKeySet {

    private static final int MAXIMUM_KEYS = 100;
    private static final int MAXIMUM_DEPTH = 16;
    private static final byte[] EDWARDS_PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");
    private static final int EDWARDS_BYTES = 32;
    private static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAXIMUM_DEPTH)
                    .build())
            .build());

    private final List<VerificationKey> keys;

    private JsonKeySet(List<VerificationKey> keys) {
        this.keys = List.copyOf(keys);
    }

    /**
     * Reads a set.
     *
     * @param text an object with the list {@code keys}
     * @param allowed the algorithms that are accepted; empty for all
     * @throws IllegalArgumentException if it is no set, has no key that can be used, or more than 100 keys
     */
    static JsonKeySet parse(String text, Set<JWSAlgorithm> allowed) {
        JsonNode list = tree(text).path("keys");
        if (!list.isArray()) {
            throw new IllegalArgumentException("an answer that is no set of keys");
        }
        if (list.size() > MAXIMUM_KEYS) {
            throw new IllegalArgumentException("more than " + MAXIMUM_KEYS + " keys");
        }
        List<VerificationKey> keys = new ArrayList<>();
        for (JsonNode one : list) {
            VerificationKey key = key(one);
            if (key != null) {
                VerificationKey usable = allowed.isEmpty() ? key : key.only(allowed);
                if (!usable.algorithms().isEmpty()) {
                    keys.add(usable);
                }
            }
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("an answer without a key that can be used");
        }
        return new JsonKeySet(keys);
    }

    private static JsonNode tree(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("an answer that is no JSON");
        }
    }

    private static @Nullable VerificationKey key(JsonNode json) {
        try {
            JWK jwk = JWK.parse(json.toString());
            boolean signs = jwk.getKeyUse() == null || jwk.getKeyUse().equals(KeyUse.SIGNATURE);
            Set<KeyOperation> operations = jwk.getKeyOperations();
            PublicKey key = publicKey(jwk);
            if (key == null || !signs || (operations != null && !operations.contains(KeyOperation.VERIFY))) {
                return null;
            }
            VerificationKey made = VerificationKey.of(jwk.getKeyID(), key);
            return jwk.getAlgorithm() == null
                    ? made
                    : made.only(VerificationKey.same(
                            JWSAlgorithm.parse(jwk.getAlgorithm().getName())));
        } catch (ParseException | JOSEException | GeneralSecurityException | RuntimeException e) {
            return null; // of a kind that is not known, or broken: the others are still good
        }
    }

    private static @Nullable PublicKey publicKey(JWK jwk) throws JOSEException, GeneralSecurityException {
        if (jwk instanceof RSAKey rsa) {
            return rsa.toRSAPublicKey();
        }
        if (jwk instanceof ECKey curve) {
            return curve.toECPublicKey();
        }
        if (jwk instanceof OctetKeyPair pair && pair.getCurve().equals(Curve.Ed25519)) {
            byte[] point = pair.getX().decode();
            if (point.length == EDWARDS_BYTES) {
                byte[] encoded = new byte[EDWARDS_PREFIX.length + EDWARDS_BYTES];
                System.arraycopy(EDWARDS_PREFIX, 0, encoded, 0, EDWARDS_PREFIX.length);
                System.arraycopy(point, 0, encoded, EDWARDS_PREFIX.length, EDWARDS_BYTES);
                return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
            }
        }
        return null; // a secret is never fetched
    }

    /** The keys that may have signed a token: those with its {@code kid}, otherwise those without one; without a {@code kid} all. */
    List<VerificationKey> candidates(SignedToken token) {
        String id = token.header().getKeyID();
        List<VerificationKey> same = suiting(token, id);
        return same.isEmpty() && id != null ? suiting(token, null) : same;
    }

    private List<VerificationKey> suiting(SignedToken token, @Nullable String id) {
        boolean any = token.header().getKeyID() == null;
        return keys.stream()
                .filter(key -> key.suits(token) && (any || (id == null ? key.id() == null : id.equals(key.id()))))
                .limit(KeySource.MAXIMUM_TRIES)
                .toList();
    }
}

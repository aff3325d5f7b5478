// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import io.smqtt.thread.AnyThread;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A key that checks signatures, with the algorithms for which it may be used. They follow from the kind of the key, never from a token: a
 * public key is never the secret of an HMAC. Immutable.
 */
@AnyThread
final class VerificationKey {

    private static final int LEAST_RSA_BITS = 2048;
    private static final int MOST_RSA_BITS = 8192;
    private static final int MOST_EXPONENT_BITS = 64;
    private static final Set<JWSAlgorithm> EDWARDS = Set.of(JWSAlgorithm.EdDSA, JWSAlgorithm.Ed25519);

    private static final Set<JWSAlgorithm> SECRETS = Set.of(JWSAlgorithm.HS256, JWSAlgorithm.HS384, JWSAlgorithm.HS512);

    private final @Nullable String id;
    private final Set<JWSAlgorithm> algorithms;
    private final Check check;

    /** Checks a signature. */
    private interface Check {
        boolean isSignedBy(SignedToken token) throws JOSEException, GeneralSecurityException;
    }

    private VerificationKey(@Nullable String id, Set<JWSAlgorithm> algorithms, Check check) {
        this.id = id;
        this.algorithms = Set.copyOf(algorithms);
        this.check = check;
    }

    private static VerificationKey of(@Nullable String id, JWSVerifier verifier) {
        return new VerificationKey(
                id,
                verifier.supportedJWSAlgorithms(),
                token -> verifier.verify(token.header(), token.signed(), token.signature()));
    }

    /**
     * A secret for HMAC.
     *
     * @param secret 32 bytes for HS256, 48 for HS384 too, 64 for HS512 too
     * @throws IllegalArgumentException if it is too short; the message continues a sentence that begins with the key
     */
    static VerificationKey secret(byte[] secret) {
        try {
            return of(null, new MACVerifier(secret));
        } catch (JOSEException e) {
            throw new IllegalArgumentException(
                    "has " + secret.length
                            + " bytes, but HS256 needs at least 32, HS384 48 and HS512 64; make one with: openssl rand -base64 48");
        }
    }

    /**
     * A public key.
     *
     * @param id its {@code kid}, or null
     * @param key the key
     * @throws IllegalArgumentException if it is of a kind or size that is not used
     */
    static VerificationKey of(@Nullable String id, PublicKey key) {
        try {
            if (key instanceof RSAPublicKey rsa) {
                return of(id, new RSASSAVerifier(checked(rsa)));
            }
            if (key instanceof ECPublicKey curve) {
                return of(id, new ECDSAVerifier(curve));
            }
        } catch (JOSEException e) {
            throw new IllegalArgumentException("has an elliptic curve that is not P-256, P-384 or P-521");
        }
        if (key instanceof EdECPublicKey edwards
                && edwards.getParams().getName().equals("Ed25519")) {
            return new VerificationKey(id, EDWARDS, token -> isSigned(token, edwards));
        }
        throw new IllegalArgumentException("is not a key of RSA, of P-256, P-384 or P-521, or of Ed25519");
    }

    private static RSAPublicKey checked(RSAPublicKey key) {
        int bits = key.getModulus().bitLength();
        if (bits < LEAST_RSA_BITS
                || bits > MOST_RSA_BITS
                || key.getPublicExponent().bitLength() > MOST_EXPONENT_BITS) {
            throw new IllegalArgumentException(
                    "has " + bits + " bits, but a key of RSA must have " + LEAST_RSA_BITS + " to " + MOST_RSA_BITS);
        }
        return key;
    }

    private static boolean isSigned(SignedToken token, PublicKey key) throws GeneralSecurityException {
        Signature signature = Signature.getInstance("Ed25519");
        signature.initVerify(key);
        signature.update(token.signed());
        return signature.verify(token.signature().decode());
    }

    /**
     * The same key for fewer algorithms.
     *
     * @return a key that checks nothing if none is left
     */
    VerificationKey only(Collection<JWSAlgorithm> allowed) {
        Set<JWSAlgorithm> left = new LinkedHashSet<>(algorithms);
        left.retainAll(allowed);
        return new VerificationKey(id, left, check);
    }

    @Nullable
    String id() {
        return id;
    }

    Set<JWSAlgorithm> algorithms() {
        return algorithms;
    }

    /** Whether an algorithm is one of public keys. */
    static boolean isPublic(JWSAlgorithm algorithm) {
        return !SECRETS.contains(algorithm);
    }

    /** The names of one algorithm. */
    static Set<JWSAlgorithm> same(JWSAlgorithm algorithm) {
        return EDWARDS.contains(algorithm) ? EDWARDS : Set.of(algorithm);
    }

    /** Whether a token says that it is signed in a way that this key can check. */
    boolean suits(SignedToken token) {
        return algorithms.contains(token.header().getAlgorithm());
    }

    /** Whether a token is signed with this key. Computes for some microseconds, with elliptic curves for up to some milliseconds. */
    boolean verifies(SignedToken token) {
        if (!suits(token)) {
            return false;
        }
        try {
            return check.isSignedBy(token);
        } catch (JOSEException | GeneralSecurityException | RuntimeException e) {
            return false; // a signature of a wrong form
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import com.password4j.Argon2Function;
import com.password4j.types.Argon2;
import java.security.MessageDigest;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hash by Argon2 (RFC 9106), such as {@code $argon2id$v=19$m=4096,t=3,p=2$salt$hash}, with salt and hash in Base64. */
final class Argon2Hash implements StoredHash {

    /** The maximum memory of a hash in KiB, and of all different parameters in use together: see {@link #KNOWN}. */
    static final int MAXIMUM_MEMORY_KIB = 65_536;

    /** The maximum of memory in KiB times passes: about a second. */
    static final long MAXIMUM_COST = 4L * MAXIMUM_MEMORY_KIB;

    private static final int MAXIMUM_LANES = 16;
    private static final int MINIMUM_LENGTH = 4;
    private static final int MAXIMUM_LENGTH = 256;
    private static final int MINIMUM_SALT = 8;
    private static final int BLOCKS_PER_LANE = 8;
    private static final Pattern FORM = Pattern.compile(
            "\\$argon2(id|i|d)\\$(?:v=(16|19)\\$)?m=([0-9]{1,7}),t=([0-9]{1,7}),p=([0-9]{1,3})\\$([^$]+)\\$([^$]+)");

    /**
     * The parameters that have been used in this process. The library keeps the memory of each until the process ends, for the whole
     * process, so there is a limit for the whole process. Guarded by itself.
     */
    private static final Set<Parameters> KNOWN = new HashSet<>();

    private final Parameters parameters;
    private final byte[] salt;
    private final byte[] hash;

    private Argon2Hash(Parameters parameters, byte[] salt, byte[] hash) {
        this.parameters = parameters;
        this.salt = salt;
        this.hash = hash;
    }

    private record Parameters(Argon2 kind, int version, int memoryKib, int passes, int lanes, int length) {}

    /**
     * Reads a hash.
     *
     * @throws IllegalArgumentException if it is none, or too expensive
     */
    static Argon2Hash parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("is no Argon2 with memory, passes, lanes, salt and hash");
        }
        byte[] salt = Pbkdf2Hash.base64(matcher.group(6));
        byte[] hash = Pbkdf2Hash.base64(matcher.group(7));
        String version = matcher.group(2);
        Parameters parameters = new Parameters(
                kind(matcher.group(1)),
                version == null ? Argon2Function.ARGON2_VERSION_10 : Integer.parseInt(version),
                Integer.parseInt(matcher.group(3)),
                Integer.parseInt(matcher.group(4)),
                Integer.parseInt(matcher.group(5)),
                hash.length);
        check(parameters, salt.length);
        reserve(parameters);
        return new Argon2Hash(parameters, salt, hash);
    }

    private static Argon2 kind(String name) {
        return switch (name) {
            case "id" -> Argon2.ID;
            case "i" -> Argon2.I;
            default -> Argon2.D;
        };
    }

    private static void check(Parameters parameters, int saltLength) {
        if (saltLength < MINIMUM_SALT || parameters.length < MINIMUM_LENGTH || parameters.length > MAXIMUM_LENGTH) {
            throw new IllegalArgumentException("is an Argon2 with a salt of less than " + MINIMUM_SALT
                    + " bytes, or is not " + MINIMUM_LENGTH + " to " + MAXIMUM_LENGTH + " bytes long");
        }
        if (parameters.lanes < 1
                || parameters.lanes > MAXIMUM_LANES
                || parameters.memoryKib < BLOCKS_PER_LANE * parameters.lanes
                || parameters.memoryKib > MAXIMUM_MEMORY_KIB
                || parameters.passes < 1
                || (long) parameters.memoryKib * parameters.passes > MAXIMUM_COST) {
            throw new IllegalArgumentException("is an Argon2 of more than " + MAXIMUM_MEMORY_KIB + " KiB, "
                    + MAXIMUM_LANES + " lanes, or " + MAXIMUM_COST + " KiB over all passes");
        }
    }

    private static void reserve(Parameters parameters) {
        synchronized (KNOWN) {
            if (KNOWN.contains(parameters)) {
                return;
            }
            int used = KNOWN.stream().mapToInt(Parameters::memoryKib).sum();
            if (used + parameters.memoryKib > MAXIMUM_MEMORY_KIB) {
                throw new IllegalArgumentException(
                        "is an Argon2 whose parameters are not among those in use, which have " + used + " of "
                                + MAXIMUM_MEMORY_KIB + " KiB");
            }
            KNOWN.add(parameters);
        }
    }

    @Override
    public boolean matches(byte[] password) {
        Argon2Function function = Argon2Function.getInstance(
                parameters.memoryKib,
                parameters.passes,
                parameters.lanes,
                parameters.length,
                parameters.kind,
                parameters.version);
        return MessageDigest.isEqual(hash, function.hash(password, salt).getBytes());
    }
}

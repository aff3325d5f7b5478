// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/** Hashes, compression and encodings. What is unpacked is bounded by the bytes that the rule may still make. */
final class CodeFunctions {

    private static final HexFormat HEX = HexFormat.of();
    private static final int CHUNK = 8192;

    private CodeFunctions() {}

    static List<Function> all() {
        FunctionFamily family = new FunctionFamily();
        hashes(family);
        compression(family);
        encodings(family);
        return family.functions();
    }

    private static void hashes(FunctionFamily family) {
        family.add("md5(x)", "MD5 in hexadecimal digits", a -> hash(a, "MD5"))
                .add("sha(x)", "SHA-1 in hexadecimal digits", a -> hash(a, "SHA-1"))
                .add("sha256(x)", "SHA-256 in hexadecimal digits", a -> hash(a, "SHA-256"))
                .add(
                        "hash(algorithm, x)",
                        "in hexadecimal digits, by 'md5', 'sha', 'sha224', 'sha256', 'sha384' or 'sha512'",
                        a -> hash(a, 1, algorithm(a)));
    }

    private static void compression(FunctionFamily family) {
        family.add("gzip(x)", "compressed, in the format of gzip", a -> pack(a, GZIPOutputStream::new))
                .add("gunzip(bytes)", "unpacked, from the format of gzip", a -> unpack(a, GZIPInputStream::new))
                .add("zip(x)", "compressed, without header", a -> pack(a, out -> deflater(out, true)))
                .add(
                        "unzip(bytes)",
                        "unpacked, without header",
                        a -> unpack(a, in -> new InflaterInputStream(in, new Inflater(true))))
                .add(
                        "zip_compress(x)",
                        "compressed, with the header of zlib",
                        a -> pack(a, out -> deflater(out, false)))
                .add(
                        "zip_uncompress(bytes)",
                        "unpacked, with the header of zlib",
                        a -> unpack(a, in -> new InflaterInputStream(in, new Inflater(false))));
    }

    private static void encodings(FunctionFamily family) {
        family.add("base64_encode(x[, no_padding][, urlsafe])", "in Base64", CodeFunctions::encode64)
                .add("base64_decode(text[, no_padding][, urlsafe])", "from Base64", CodeFunctions::decode64)
                .add("bin2hexstr(x[, prefix])", "in hexadecimal digits, upper case, behind a prefix", a -> {
                    byte[] bytes = a.bytes(0);
                    a.meter().make(2L * bytes.length);
                    return a.text(1, "") + HEX.withUpperCase().formatHex(bytes);
                })
                .add("hexstr2bin(text[, prefix])", "from hexadecimal digits behind a prefix", CodeFunctions::decodeHex)
                .add("json_encode(x)", "as JSON", a -> Json.write(a.value(0), a.meter()))
                .add("json_decode(text)", "from JSON", a -> a.json(0));
    }

    private static Object hash(Arguments a, String algorithm) {
        return hash(a, 0, algorithm);
    }

    private static Object hash(Arguments a, int index, String algorithm) {
        byte[] bytes = a.bytes(index);
        a.meter().make(128);
        try {
            return HEX.formatHex(MessageDigest.getInstance(algorithm).digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw a.failure("there is no " + algorithm);
        }
    }

    private static String algorithm(Arguments a) {
        return switch (a.text(0).toLowerCase(Locale.ROOT)) {
            case "md5" -> "MD5";
            case "sha", "sha1" -> "SHA-1";
            case "sha224" -> "SHA-224";
            case "sha256" -> "SHA-256";
            case "sha384" -> "SHA-384";
            case "sha512" -> "SHA-512";
            default -> throw a.failure("there is no such algorithm");
        };
    }

    /** Puts a compressing stream in front of another one. */
    @FunctionalInterface
    private interface Packer {
        OutputStream open(OutputStream out) throws IOException;
    }

    /** Puts a decompressing stream behind another one. */
    @FunctionalInterface
    private interface Unpacker {
        InputStream open(InputStream in) throws IOException;
    }

    private static OutputStream deflater(OutputStream out, boolean raw) {
        return new DeflaterOutputStream(out, new Deflater(Deflater.DEFAULT_COMPRESSION, raw));
    }

    private static Object pack(Arguments a, Packer packer) {
        byte[] bytes = a.bytes(0);
        a.meter().steps(bytes.length >> 4);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = packer.open(packed)) {
            out.write(bytes);
        } catch (IOException e) {
            throw a.failure(String.valueOf(e.getMessage()));
        }
        a.meter().make(packed.size());
        return packed.toByteArray();
    }

    private static Object unpack(Arguments a, Unpacker unpacker) {
        ByteArrayOutputStream unpacked = new ByteArrayOutputStream();
        byte[] chunk = new byte[CHUNK];
        try (InputStream in = unpacker.open(new ByteArrayInputStream(a.bytes(0)))) {
            for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
                a.meter().make(count);
                unpacked.write(chunk, 0, count);
            }
        } catch (IOException e) {
            throw a.failure("the bytes are not compressed in this format");
        }
        return Values.textOrBytes(unpacked.toByteArray());
    }

    private static boolean has(Arguments a, String option) {
        for (int index = 1; index < a.count(); index++) {
            if (option.equals(a.value(index))) {
                return true;
            }
        }
        return false;
    }

    private static Object encode64(Arguments a) {
        byte[] bytes = a.bytes(0);
        a.meter().make(bytes.length * 4L / 3 + 4);
        Base64.Encoder encoder = has(a, "urlsafe") ? Base64.getUrlEncoder() : Base64.getEncoder();
        return (has(a, "no_padding") ? encoder.withoutPadding() : encoder).encodeToString(bytes);
    }

    private static Object decode64(Arguments a) {
        byte[] bytes = a.bytes(0);
        a.meter().make(bytes.length);
        try {
            return Values.textOrBytes((has(a, "urlsafe") ? Base64.getUrlDecoder() : Base64.getDecoder()).decode(bytes));
        } catch (IllegalArgumentException e) {
            throw a.failure("the text is not Base64");
        }
    }

    private static Object decodeHex(Arguments a) {
        String text = a.text(0);
        String prefix = a.text(1, "");
        String digits = text.startsWith(prefix) ? text.substring(prefix.length()) : text;
        a.meter().make(digits.length() / 2);
        try {
            return Values.textOrBytes(HEX.parseHex(digits));
        } catch (IllegalArgumentException e) {
            throw a.failure("the text is not an even number of hexadecimal digits");
        }
    }
}

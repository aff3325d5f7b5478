// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.page;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * A file of the page.
 *
 * @param contentType the media type
 * @param content its bytes; not to be changed
 * @param compressed the same by gzip; not to be changed
 * @param etag its entity tag, with quotes
 * @param immutable whether its name changes with its content
 */
@SuppressWarnings("ArrayRecordComponent") // files are never compared
public record PageFile(String contentType, byte[] content, byte[] compressed, String etag, boolean immutable) {

    private static final int TAG_BYTES = 12;
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    static PageFile of(String name, byte[] content, boolean immutable) {
        String extension = name.substring(name.lastIndexOf('.') + 1);
        return new PageFile(
                TYPES.getOrDefault(extension, "application/octet-stream"),
                content,
                gzip(content),
                '"' + HexFormat.of().formatHex(sha256(content), 0, TAG_BYTES) + '"',
                immutable);
    }

    private static byte[] sha256(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] gzip(byte[] content) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(compressed) {
            {
                def.setLevel(Deflater.BEST_COMPRESSION); // once at the start
            }
        }) {
            out.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return compressed.toByteArray();
    }

    /**
     * The value of Cache-Control.
     *
     * @return a year for an immutable file; else the browser asks each time whether its copy is the present one
     */
    public String cacheControl() {
        return immutable ? "public, max-age=31536000, immutable" : "no-cache";
    }
}

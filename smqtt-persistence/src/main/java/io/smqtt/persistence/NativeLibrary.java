// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;

/**
 * Loads the native part of RocksDB. It is unpacked into the store's directory under a fixed name, because the temporary
 * directory would get another 17 MB with each process that is killed; if nothing can be loaded from there, because the
 * disk is full or programs may not be run from it, the temporary directory it is.
 */
final class NativeLibrary {

    private NativeLibrary() {}

    static synchronized void load(Path directory) {
        try {
            Path target = Files.createDirectories(directory.resolve("native"));
            NativeLibraryLoader.getInstance().loadLibrary(target.toString());
        } catch (IOException | UnsatisfiedLinkError | RuntimeException e) {
            RocksDB.loadLibrary();
            return;
        }
        RocksDB.loadLibrary();
    }
}

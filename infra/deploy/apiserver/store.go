package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// store is etcd in this process, on sockets of the file system: nothing else on the machine reaches it.
type store struct {
	*embed.Etcd
	endpoint string
}

func startStore(folder string) (store, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return store{}, err
	}
	clients := url.URL{Scheme: "unix", Path: filepath.Join(folder, "c")}
	peers := url.URL{Scheme: "unix", Path: filepath.Join(folder, "p")}
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "data")
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "error"
	// It is thrown away at the end.
	config.UnsafeNoFsync = true
	started, err := embed.StartEtcd(config)
	if err != nil {
		return store{}, err
	}
	select {
	case <-started.Server.ReadyNotify():
		return store{started, clients.String()}, nil
	case err = <-started.Err():
	case <-time.After(time.Minute):
		err = errors.New("not ready within a minute")
	}
	started.Close()
	return store{}, err
}

// Command apiserver is the API server of Kubernetes with its store, for as long as its standard input is open.
//
// What decides whether a manifest is accepted is here as it is in a cluster: defaults, validation, what may change, custom
// resources, and every step of admission that is on by default, Pod Security among them. What runs things is not: no controller,
// no scheduler, no node.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const usage = `usage: apiserver <folder> [flags of kube-apiserver]
Keeps everything in the folder, which must be there. Prints one line of JSON before it serves: {"url", "token", "certificate",
"version"}. Ask /readyz whether it does. Ends when its standard input does.`

// access is what a client needs.
type access struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	// File of the certificate that the server shows, and of who signed it.
	Certificate string `json:"certificate"`
	// Of Kubernetes.
	Version string `json:"version"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string, flags []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go func() {
		// Whoever started this is gone, however it ended.
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	store, err := startStore(filepath.Join(folder, "store"))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer store.Close()
	who, err := makeIdentities(folder)
	if err != nil {
		return err
	}
	completed, who, err := configure(ctx, folder, store.endpoint, who, flags)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(who.access); err != nil {
		return err
	}
	if err := app.Run(ctx, completed); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// release is the version of Kubernetes that go.mod names: what the server says of itself is written in by other builds.
func release() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/kubernetes" {
			return module.Version
		}
	}
	return "unknown"
}

// configure gives the server the options of kube-apiserver's own command, and a listener on a free port of the loopback.
func configure(ctx context.Context, folder, endpoint string, who identities, flags []string) (options.CompletedOptions, identities, error) {
	nothing := options.CompletedOptions{}
	s := options.NewServerRunOptions()
	set := pflag.NewFlagSet("apiserver", pflag.ContinueOnError)
	for _, named := range s.Flags().FlagSets {
		set.AddFlagSet(named)
	}
	if err := set.Parse(append([]string{
		"--cert-dir=" + folder,
		"--etcd-servers=" + endpoint,
		"--token-auth-file=" + who.tokenFile,
		"--anonymous-auth=false",
		// What may be applied is looked at here, not who may.
		"--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + who.keyFile,
		"--service-account-signing-key-file=" + who.keyFile,
		"--service-cluster-ip-range=10.96.0.0/16",
		// There is no other server to find.
		"--endpoint-reconciler-type=none",
		"--profiling=false",
	}, flags...)); err != nil {
		return nothing, who, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nothing, who, err
	}
	address := listener.Addr().(*net.TCPAddr)
	s.SecureServing.Listener, s.SecureServing.BindPort = listener, address.Port
	s.SecureServing.ExternalAddress = address.IP
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nothing, who, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := s.Complete(ctx)
	if err != nil {
		return nothing, who, err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return nothing, who, utilerrors.NewAggregate(errs)
	}
	who.access.Version = release()
	who.access.URL = "https://" + address.String()
	who.access.Certificate = filepath.Join(folder, s.SecureServing.ServerCert.PairName+".crt")
	return completed, who, nil
}
